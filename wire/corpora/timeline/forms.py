"""Forms of rows, made from the types that say what a row may hold: one form a table, checked by the same rules as a file."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from django import forms
from django.utils.text import capfirst
from pydantic import ValidationError
from unfold import widgets

from wire.admin.base import FreshForm, LinesField
from wire.corpora.common.forms import RecordsField
from wire.corpora.timeline import validation
from wire.corpora.timeline.corpus_config import KINDS, CorpusFile, parse_corpus
from wire.corpora.timeline.models import MODELS, Corpus
from wire.corpora.timeline.row_schemas import ROWS
from wire.models import WireState
from wire.text.lexicons import load

PREFIX: Final = "row_"  # of fields, so that none has the name of a column
OFFERED: Final = 200  # most rows that a field offers; where a draft has more, their ids are typed
NAMED: Final = 40  # most values that the help of a field of several lines names
_ACRONYMS: Final = {"id": "ID", "ids": "IDs", "url": "URL"}
_DATES: Final = ("date", "date_observed", "date_posted", "date_added")  # whole days only, unlike `date_label`
_LONG: Final = ("about", "never_claims", "licence", "summary", "frame", "definition", "notes", "policy", "caution", "variant")


def build_field(name: str, schema: dict[str, Any], required: bool, definitions: Mapping[str, Any]) -> forms.Field:
    """Return the field for a value of a row, by its JSON Schema; `definitions` has the types that it names."""
    label = capfirst(" ".join(_ACRONYMS.get(word, word) for word in name.split("_")))
    required = required and {"type": "null"} not in schema.get("anyOf", ())
    match value := next(one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"):
        case {"type": "array", "items": {"type": "string"}}:
            return LinesField(label=label, required=False, help_text="One per line.")
        case {"type": "array", "items": {"$ref": record}} | {"$ref": record}:
            schema = definitions[record.rpartition("/")[2]]
            field = RecordsField(schema, definitions, is_one="$ref" in value, label=label, required=required)
            examples = load("timeline_fields")["examples"]
            field.widget.attrs["placeholder"] = "\n".join(f"{name}: {examples.get(name, '…')}" for name in schema["required"])
            return field
        case {"type": "boolean"}:
            return forms.BooleanField(label=label, required=False, widget=widgets.UnfoldBooleanWidget)
        case {"type": "integer"}:
            return forms.IntegerField(label=label, required=False, widget=widgets.UnfoldAdminTextInputWidget)
        case {"type": "number"}:
            return forms.FloatField(label=label, required=False, widget=widgets.UnfoldAdminTextInputWidget)
        case {"enum": words}:
            choices = [("", "not judged" if name == "stance" else "choose"), *((word, word) for word in words)]
            return forms.ChoiceField(label=label, required=required, choices=choices, widget=widgets.UnfoldAdminSelectWidget)
    is_long = any(part in name for part in _LONG)
    line = widgets.UnfoldAdminTextInputWidget({"type": "date"} if name in _DATES else {})
    widget = widgets.UnfoldAdminTextareaWidget({"rows": 3}) if is_long else line
    return forms.CharField(label=label, required=required, widget=widget)


class RowForm(FreshForm[Any]):
    """A row of a draft. `row` is its content once the form is valid; saving stores that."""

    table: str = ""
    row: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            for name, value in self.instance.row.items():
                self.initial[PREFIX + name] = value
            if f"{PREFIX}id" in self.fields:
                self.fields[f"{PREFIX}id"].disabled = True
            del self.fields["corpus"]  # a row stays where it is
        chosen = self.instance.corpus_id or str(self.data.get("corpus") or self.initial.get("corpus") or "")
        corpora = Corpus.objects.filter(pk=chosen) if str(chosen).isdigit() else Corpus.objects.all()
        offered: dict[str, dict[str, str]] = defaultdict(dict)
        for corpus in corpora:
            for path, words in validation.list_words(self.table, parse_corpus(corpus.written)).items():
                offered[path] |= dict(zip(words, words, strict=True))
        for path, table in load("timeline_fields")["references"].get(self.table, {}).items():
            rows = MODELS[table].objects.filter(corpus__in=corpora, until=None, dropped=False).in_order()
            offered[path] = {row.key: f"{row} ({row.key})" for row in rows[: OFFERED + 1]}
        for path, options in offered.items():
            if options and len(options) <= OFFERED:
                self._offer(path, options)

    def _offer(self, path: str, options: Mapping[str, str]) -> None:
        """Let a field choose from these values; what it holds comes first, in its order, even if it is not among them."""
        name, _, rest = path.partition(".")
        field = self.fields[PREFIX + name]
        if isinstance(field, RecordsField):
            column = rest.rpartition(".")[2]
            example = [*options][:2][-1]  # the first word often stands for what is official, which needs more
            placeholder = field.widget.attrs["placeholder"]
            field.widget.attrs["placeholder"] = placeholder.replace(f"{column}: …", f"{column}: {example}")
            if len(options) <= NAMED:
                field.help_text += f" {column}: {', '.join(options)}."
            return
        held = self.initial.get(PREFIX + name) or []
        held = [held] if isinstance(held, str) else held
        choices = {**dict(zip(held, held, strict=True)), **options}.items()
        if rest:
            field.widget = widgets.UnfoldAdminCheckboxSelectMultipleWidget(choices=choices)
            field.help_text = ""
        else:
            field.widget = widgets.UnfoldAdminSelectWidget(choices=[("", "choose"), *choices])
        field.widget.is_required = field.required

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        corpus = self.instance.corpus if self.instance.pk else data.get("corpus")
        if corpus is None or self.errors:
            return data
        WireState.lock()
        self.row = self._build_row(data)
        for message, fields in self._find_problems(corpus):
            name = PREFIX + fields[0] if fields and PREFIX + fields[0] in self.fields else None
            self.add_error(name, message)
        return data

    def _find_problems(self, corpus: Corpus) -> Iterable[tuple[str, tuple[str, ...]]]:
        drafts = {table: model.objects.draft(corpus.pk) for table, model in MODELS.items()}
        known: dict[str, dict[str, Any]] = {
            table: dict.fromkeys(rows.values_list("key", flat=True)) for table, rows in drafts.items()
        }
        for key, layer, date in drafts["events"].values_list("key", "layer", "date"):
            known["events"][key] = layer, str(date)
        key = self.row["id"]
        if not self.instance.pk and key in known[self.table]:
            yield "This id is already taken.", ("id",)
        known[self.table][key] = validation.summarize(self.table, self.row)
        yield from validation.check_row(self.table, self.row, parse_corpus(corpus.written), known)

    def _build_row(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the row in the order of its type; what was left empty and need not be there is not."""
        before = self.instance.row if self.instance.pk else {}
        needed = {name for name, field in ROWS[self.table].model_fields.items() if field.is_required()}
        written: dict[str, Any] = {}
        for name in dict.fromkeys((*before, *ROWS[self.table].model_fields)):
            value = data.get(PREFIX + name)
            if isinstance(self.fields.get(PREFIX + name), RecordsField) and PREFIX + name not in self.changed_data:
                value = before.get(name)
            if isinstance(value, str):
                value = value.replace("\r\n", "\n").strip() or None
            is_empty = value is None or value == [] or value is False
            if name in needed or not is_empty or (name in before and before[name] == value):
                written[name] = value
        return written


def form_of(table: str) -> type[RowForm]:
    whole = ROWS[table].model_json_schema()
    schema, definitions = whole["properties"], whole.get("$defs", {})
    required = {name for name, field in ROWS[table].model_fields.items() if field.is_required()}
    fields = {PREFIX + name: build_field(name, part, name in required, definitions) for name, part in schema.items()}
    for name, help_text in load("timeline_fields")["help"].items():
        if PREFIX + name in fields:
            fields[PREFIX + name].help_text = help_text
    chooser = {"corpus": widgets.UnfoldAdminSelectWidget}
    meta = type("Meta", (), {"model": MODELS[table], "fields": ("corpus",), "widgets": chooser})
    return type(f"{table.capitalize()}Form", (RowForm,), {**fields, "table": table, "Meta": meta})


def _list_parts() -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Yield each value that corpus.json may have: the name of its field, its path, its JSON Schema."""
    for name, part in _CORPUS["properties"].items():
        if name == "left_out_names":  # digests under this installation's key, which `timeline name` makes
            continue
        inner = _CORPUS["$defs"].get(part.get("$ref", "").rpartition("/")[2], {}).get("properties")
        inner = inner or {key: {"type": "string"} for key in part.get("propertyNames", {}).get("enum", ())}
        if inner:
            yield from ((f"{name}__{key}", (name, key), schema) for key, schema in inner.items())
        else:
            yield name, (name,), part


_CORPUS: Final = CorpusFile.model_json_schema()
PARTS: Final = {name: (path, schema) for name, path, schema in _list_parts()}
_NEEDED: Final = ("slug", "name", "kind")


def _read_path(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _describe_error(name: str | None, error: Any) -> str:
    if error["type"] == "string_pattern_mismatch":
        return "write a host such as example.org" if name == "official_domains" else "use lower-case letters, digits and hyphens"
    return str(error["msg"].removeprefix("Value error, "))


class CorpusForm(FreshForm[Corpus]):
    """What corpus.json holds, part by part; a part that is left empty is as usual for the corpus's kind, and says how that is."""

    class Meta:
        model = Corpus
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before: dict[str, Any] = orjson.loads(self.instance.written) if self.instance.pk else {}
        for name, (path, _) in PARTS.items():
            self.initial[name] = _read_path(self.before, path)
        if self.instance.pk:
            self.initial["kind"] = self.initial["kind"] or "folklore"  # which is not written where it was left out
        usual = KINDS.get(self.data.get("kind") or self.initial["kind"] or "", {})
        for name, (path, schema) in PARTS.items():
            field = self.fields.get(name)
            if field is not None and name not in _NEEDED and (as_usual := _read_path(usual, path) or schema.get("default")):
                shown = field.prepare_value(as_usual) if isinstance(field, RecordsField) else as_usual
                text = "; ".join(shown) if isinstance(shown, list) else str(shown).replace("\n", "; ")
                told = "If empty, readers are told" if "default" in schema else "If empty"
                field.help_text = f"{field.help_text} {told}: {text[:400]}".strip()
        if self.instance.pk and "slug" in self.fields:
            self.fields["slug"].disabled = True

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        # Even if another field is wrong: Django would call these blank.
        self.instance.slug, self.instance.name = data.get("slug", ""), data.get("name", "")
        if self.errors:
            return data
        written = self._build_written(data)
        try:
            found = CorpusFile.model_validate(written)
        except ValidationError as refused:
            for error in refused.errors(include_url=False, include_input=False):
                path = [str(part) for part in error["loc"]]
                at = next((name for name in ("__".join(path[:2]), path[0] if path else "") if name in self.fields), None)
                below = error["loc"][(at or "").count("__") + 1 :]
                entry = "".join(f"Entry {part + 1}: " if isinstance(part, int) else f"{part}: " for part in below)
                self.add_error(at, capfirst(f"{entry}{_describe_error(at, error)}."))
            return data
        if not self.instance.pk and Corpus.objects.filter(slug=found.slug).exists():
            self.add_error("slug", f"The corpus {found.slug} already exists.")
        self.instance.written = orjson.dumps(written).decode()
        return data

    def _build_written(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return corpus.json with what was changed; every other part stays as it was written."""
        written: dict[str, Any] = orjson.loads(orjson.dumps(self.before))
        for name, (path, _) in PARTS.items():
            if name not in self.changed_data:
                continue
            value = data.get(name)
            inside = written.setdefault(path[0], {}) if len(path) > 1 else written
            if value in (None, "", []):
                inside.pop(path[-1], None)
            else:
                inside[path[-1]] = value.replace("\r\n", "\n") if isinstance(value, str) else value
            if len(path) > 1 and not inside:
                del written[path[0]]
        return written


for _name, (_path, _schema) in PARTS.items():
    _field = build_field(_path[-1], _schema, _name in _NEEDED, _CORPUS["$defs"])
    _field.required = _name in _NEEDED
    _field.help_text = load("timeline_fields")["corpus_help"].get(_name, _field.help_text)
    CorpusForm.base_fields[_name] = _field
