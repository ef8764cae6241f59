"""Forms of rows, made from the types that say what a row may hold: one form a table, checked by the same rules as a file."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from django import forms
from django.utils.html import format_html
from django.utils.text import capfirst
from pydantic import ValidationError
from unfold import widgets

from wire.admin.base import FreshForm, LinesField
from wire.corpora.common.forms import RecordsField, get_non_null_schema, to_label
from wire.corpora.timeline import validation
from wire.corpora.timeline.corpus_config import KINDS, CorpusFile, parse_corpus
from wire.corpora.timeline.models import MODELS, Corpus
from wire.corpora.timeline.row_schemas import ROWS
from wire.models import WireState
from wire.text.lexicons import load_lexicon

PREFIX: Final = "row_"  # of fields, so that none has the name of a column
OFFERED: Final = 200  # most rows that a field offers; where a draft has more, their ids are typed
NAMED: Final = 40  # most values that the help of a field of several lines names
_COLUMN: Final = re.compile(r"^[a-z_]+(?:\.\w+)*|\b[a-z]+(?:_[a-z]+)+\b")  # perhaps the name of a column, or the way to a value
_DATES: Final = ("date", "date_observed", "date_posted", "date_added")  # whole days only, unlike `date_label`
_LONG: Final = ("about", "never_claims", "licence", "summary", "frame", "definition", "notes", "policy", "caution", "variant")


def build_field(name: str, schema: dict[str, Any], required: bool, definitions: Mapping[str, Any]) -> forms.Field:
    """Return the field for a value of a row, by its JSON Schema; `definitions` has the types that it names."""
    title = to_label(name)
    required = required and {"type": "null"} not in schema.get("anyOf", ())
    match get_non_null_schema(schema):
        case {"type": "array", "items": {"type": "string"}}:
            return LinesField(label=title, required=False, help_text="One per line.")
        case {"type": "array", "items": {"$ref": record}}:
            records = RecordsField(definitions[record.rpartition("/")[2]], definitions, label=title, required=required)
            records.help_text = records.build_help_text(load_lexicon("timeline_fields")["examples"], {})
            return records
        case {"type": "boolean"}:
            return forms.BooleanField(label=title, required=False, widget=widgets.UnfoldBooleanWidget)
        case {"type": "integer"}:
            return forms.IntegerField(label=title, required=False, widget=widgets.UnfoldAdminTextInputWidget)
        case {"type": "number"}:
            return forms.FloatField(label=title, required=False, widget=widgets.UnfoldAdminTextInputWidget)
        case {"enum": words}:
            choices = [("", "not judged" if name == "stance" else "choose"), *((word, word) for word in words)]
            return forms.ChoiceField(label=title, required=required, choices=choices, widget=widgets.UnfoldAdminSelectWidget)
    is_long = any(part in name for part in _LONG)
    line = widgets.UnfoldAdminTextInputWidget({"type": "date"} if name in _DATES else {})
    widget = widgets.UnfoldAdminTextareaWidget({"rows": 3}) if is_long else line
    return forms.CharField(label=title, required=required, widget=widget)


class RowForm(FreshForm[Any]):
    """A row of a draft. `row` is its content once the form is valid; saving stores that."""

    table: str = ""
    parts: Mapping[str, tuple[str, ...]]  # the path of each field's value
    row: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            values = {PREFIX + name: _read_path(self.instance.row, path) for name, path in self.parts.items()}
            self.initial.update({name: value for name, value in values.items() if value is not None})
            if f"{PREFIX}id" in self.fields:
                self.fields[f"{PREFIX}id"].disabled = True
            del self.fields["corpus"]  # a row stays where it is
        chosen = self.instance.corpus_id or str(self.data.get("corpus") or self.initial.get("corpus") or "")
        corpora = Corpus.objects.filter(pk=chosen) if str(chosen).isdigit() else Corpus.objects.all()
        offered: dict[str, dict[str, str]] = defaultdict(dict)
        for corpus in corpora:
            for path, words in validation.list_accepted_words(self.table, parse_corpus(corpus.written)).items():
                offered[path] |= dict(zip(words, words, strict=True))
        for path, table in load_lexicon("timeline_fields")["references"].get(self.table, {}).items():
            rows = MODELS[table].objects.filter(corpus__in=corpora, until=None, dropped=False).in_order()
            offered[path] = {row.key: f"{row} ({row.key})" for row in rows[: OFFERED + 1]}
        records: dict[RecordsField, dict[str, dict[str, str]]] = defaultdict(dict)
        for path, options in offered.items():
            name = PREFIX + path.replace(".", "__")
            name = name if name in self.fields else PREFIX + path.partition(".")[0]
            if isinstance(field := self.fields[name], RecordsField):
                records[field][path.rpartition(".")[2]] = options
            elif options and len(options) <= OFFERED:
                self._set_choices(name, options, are_many=path.endswith(".*"))
        about = {self.fields.get(PREFIX + name): text for name, text in load_lexicon("timeline_fields")["help"].items()}
        for box, columns in records.items():
            # The first word often stands for what is official, which needs more.
            examples = {column: [*options][:2][-1] for column, options in columns.items() if options}
            short = {column: options for column, options in columns.items() if 0 < len(options) <= NAMED}
            described = box.build_help_text(load_lexicon("timeline_fields")["examples"] | examples, short)
            box.help_text = format_html("{} {}", about.get(box, ""), described)

    def _set_choices(self, name: str, options: Mapping[str, str], *, are_many: bool) -> None:
        """Let a field choose from these values; what it holds comes first, in its order, even if it is not among them."""
        field = self.fields[name]
        held = self.initial.get(name) or []
        held = [held] if isinstance(held, str) else held
        choices = {**dict(zip(held, held, strict=True)), **options}.items()
        if are_many:
            field.widget = widgets.UnfoldAdminCheckboxSelectMultipleWidget(choices=choices)
            field.help_text = str(field.help_text).removesuffix("One per line.")
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
            names = (f"{PREFIX}{'__'.join(fields)}", f"{PREFIX}{fields[0]}") if fields else ()
            at, text = next((name for name in names if name in self.fields), None), self._name_columns(message)
            if at:  # its label stands before the message already
                text = capfirst(re.sub(rf"^{re.escape(str(self.fields[at].label))}:? ", "", text))
            self.add_error(at, text)
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
        known[self.table][key] = validation.summarize_row(self.table, self.row)
        yield from validation.check_row(self.table, self.row, parse_corpus(corpus.written), known)

    def _name_columns(self, message: str) -> str:
        """Name columns in a message, such as `claims.0.source_url`, as the form does."""
        known = {step for path in self.parts.values() for step in path}

        def name_column(match: re.Match[str]) -> str:
            first, *inner = match[0].split(".")
            if first not in known:
                return match[0]
            if field := self.fields.get(PREFIX + "__".join((first, *inner))):
                return str(field.label)
            return ", ".join(f"entry {int(step) + 1}" if step.isdecimal() else to_label(step) for step in inner or [first])

        return capfirst(_COLUMN.sub(name_column, message))

    def _build_row(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the row in the order of its type; what was left empty and need not be there is not."""
        before = self.instance.row if self.instance.pk else {}
        values: dict[str, Any] = {}
        for name, path in self.parts.items():
            value = data.get(PREFIX + name)
            if isinstance(self.fields.get(PREFIX + name), RecordsField) and PREFIX + name not in self.changed_data:
                value = _read_path(before, path)
            if isinstance(value, str):
                value = value.replace("\r\n", "\n").strip() or None
            (values.setdefault(path[0], {}) if len(path) > 1 else values)[path[-1]] = value
        return _merge_values(before, values, {name for name, field in ROWS[self.table].model_fields.items() if field.is_required()})


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value == []


def _merge_values(before: Mapping[str, Any], values: Mapping[str, Any], needed: Iterable[str] = ()) -> dict[str, Any]:
    """Return the values in the order in which they were stored; empty ones as they were stored, or where they are needed."""
    merged: dict[str, Any] = {}
    for name in dict.fromkeys((*before, *values)):
        value, stored = values.get(name), before.get(name)
        if isinstance(value, dict):
            value = None if all(map(_is_empty, value.values())) else _merge_values(stored or {}, value)
        if not _is_empty(value):
            merged[name] = value
        elif name in needed or (name in before and _is_empty(stored)):
            merged[name] = value if name in needed else stored
    return merged


def build_form(table: str) -> type[RowForm]:
    schema = ROWS[table].model_json_schema()
    parts, fields = {}, {}
    for name, path, part, required in _list_form_fields(schema):
        title = path[-1] if path[-1].startswith(path[0]) else "_".join(path)
        parts[name], fields[PREFIX + name] = path, build_field(title, part, required, schema.get("$defs", {}))
    for name, help_text in load_lexicon("timeline_fields")["help"].items():
        if PREFIX + name in fields:
            fields[PREFIX + name].help_text = help_text
    chooser = {"corpus": widgets.UnfoldAdminSelectWidget}
    meta = type("Meta", (), {"model": MODELS[table], "fields": ("corpus",), "widgets": chooser})
    return type(f"{table.capitalize()}Form", (RowForm,), {**fields, "table": table, "parts": parts, "Meta": meta})


def _list_form_fields(whole: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any], bool]]:
    """Yield each value of a type that has a field: the field's name, its path, its JSON Schema, and whether it is needed."""
    for name, part in whole["properties"].items():
        is_needed, value = name in whole.get("required", ()), get_non_null_schema(part)
        record = whole.get("$defs", {}).get(value.get("$ref", "").rpartition("/")[2], {})
        inner = record.get("properties") or {key: {"type": "string"} for key in value.get("propertyNames", {}).get("enum", ())}
        for key, schema in inner.items():
            yield f"{name}__{key}", (name, key), schema, is_needed and key in record.get("required", ())
        if not inner:
            yield name, (name,), part, is_needed


_CORPUS: Final = CorpusFile.model_json_schema()
# Left-out names are digests under this installation's key, which `timeline name` makes.
PARTS: Final = {name: (path, schema) for name, path, schema, _ in _list_form_fields(_CORPUS) if name != "left_out_names"}
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
                text = "; ".join(shown) if isinstance(shown, list) else str(shown).replace("\n\n", " | ").replace("\n", "; ")
                shortened = f"{text[:400]}…" if len(text) > 400 else text
                field.help_text = f"{field.help_text} If empty: {shortened}".strip()
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
                entry = "".join(f"Entry {part + 1}: " if isinstance(part, int) else f"{to_label(part)}: " for part in below)
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
    _field.help_text = load_lexicon("timeline_fields")["corpus_help"].get(_name, _field.help_text)
    CorpusForm.base_fields[_name] = _field
