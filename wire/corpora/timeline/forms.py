"""Forms of rows, made from the types that say what a row may hold: one form a table, checked by the same rules as a file."""

from collections.abc import Iterable
from typing import Any, Final

import orjson
from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from wire.admin.base import FreshForm, LinesField
from wire.corpora.common.forms import JsonField
from wire.corpora.timeline import validation
from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus
from wire.corpora.timeline.models import MODELS, Corpus
from wire.corpora.timeline.row_schemas import ROWS
from wire.models import WireState

PREFIX: Final = "row_"  # of fields, so that none has the name of a column
_LONG: Final = ("summary", "frame", "definition", "notes", "policy", "caution", "variant")


def build_field(name: str, schema: dict[str, Any], required: bool) -> forms.Field:
    """Return the field for a value of a row, by its JSON Schema."""
    label = name.replace("_", " ").capitalize()
    match next(one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"):
        case {"type": "array", "items": {"type": "string"}}:
            return LinesField(label=label, required=False, help_text="One a line.")
        case {"type": "array"} | {"$ref": _}:
            return JsonField(label=label, required=required, help_text="As JSON.")
        case {"type": "boolean"}:
            return forms.BooleanField(label=label, required=False, widget=UnfoldBooleanWidget)
        case {"type": "integer"}:
            return forms.IntegerField(label=label, required=False, widget=UnfoldAdminTextInputWidget)
        case {"type": "number"}:
            return forms.FloatField(label=label, required=False, widget=UnfoldAdminTextInputWidget)
        case {"enum": words}:
            choices = [("", "not judged" if name == "stance" else "choose"), *((word, word) for word in words)]
            return forms.ChoiceField(label=label, required=required and name != "stance", choices=choices)
    is_long = any(part in name for part in _LONG)
    widget = UnfoldAdminTextareaWidget({"rows": 3}) if is_long else UnfoldAdminTextInputWidget
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
            yield "There is one with this id already.", ("id",)
        known[self.table][key] = validation.summarize(self.table, self.row)
        yield from validation.check_row(self.table, self.row, parse_corpus(corpus.written), known)

    def _build_row(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the row in the order of its type; what was left empty and need not be there is not."""
        before = self.instance.row if self.instance.pk else {}
        needed = {name for name, field in ROWS[self.table].model_fields.items() if field.is_required()}
        written: dict[str, Any] = {}
        for name in dict.fromkeys((*before, *ROWS[self.table].model_fields)):
            value = data.get(PREFIX + name)
            if isinstance(value, str):
                value = value.replace("\r\n", "\n").strip() or None
            is_empty = value is None or value == [] or value is False
            if name in needed or not is_empty or (name in before and before[name] == value):
                written[name] = value
        return written


def form_of(table: str) -> type[RowForm]:
    schema = ROWS[table].model_json_schema()["properties"]
    required = {name for name, field in ROWS[table].model_fields.items() if field.is_required()}
    fields = {PREFIX + name: build_field(name, part, name in required) for name, part in schema.items()}
    meta = type("Meta", (), {"model": MODELS[table], "fields": ("corpus",)})
    return type(f"{table.capitalize()}Form", (RowForm,), {**fields, "table": table, "Meta": meta})


class CorpusForm(FreshForm[Corpus]):
    corpus_json = JsonField(label="corpus.json", help_text="Name, licence, vocabularies, rules. What is left out is as usual.")

    class Meta:
        model = Corpus
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["corpus_json"] = orjson.loads(self.instance.written)

    def clean_corpus_json(self) -> Any:
        said = self.cleaned_data["corpus_json"]
        try:
            found = CorpusFile.model_validate(said)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        if self.instance.pk and found.slug != self.instance.slug:
            raise forms.ValidationError(f"The slug stays {self.instance.slug}: it is part of addresses.")
        if not self.instance.pk and Corpus.objects.filter(slug=found.slug).exists():
            raise forms.ValidationError(f"There is a corpus {found.slug} already.")
        self.instance.slug, self.instance.name = found.slug, found.name
        self.instance.written = orjson.dumps(said).decode()
        return said
