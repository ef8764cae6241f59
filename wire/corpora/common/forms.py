"""Fields of the desk's forms."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from django import forms
from django.utils.html import format_html
from django.utils.text import capfirst
from unfold.widgets import UnfoldAdminTextareaWidget

_ACRONYMS: Final = {"id": "ID", "ids": "IDs", "url": "URL"}


def to_label(name: str) -> str:
    """Return what a form calls a value: `source_url` is “Source URL”."""
    return capfirst(" ".join(_ACRONYMS.get(word, word) for word in name.split("_")))


def get_non_null_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(one for one in schema.get("anyOf", [schema]) if one.get("type") != "null")


class RecordsField(forms.CharField):
    """Records, each written with one `Name: value` a line, and an empty line between two. `schema` is the JSON Schema of a record.

    A line that begins with two spaces goes on with the value above. A list of records inside one has a line for each of these,
    with its values in order: `Disputes: report-3 | 1 | https://…`.
    """

    def __init__(self, schema: Mapping[str, Any], definitions: Mapping[str, Any], **options: Any) -> None:
        self.needed: list[str] = schema.get("required", [])
        self.columns: Mapping[str, Any] = {
            name: get_non_null_schema(schema["properties"][name]) for name in dict.fromkeys((*self.needed, *schema["properties"]))
        }
        self.definitions = definitions
        # An empty record to fill in: lines without a value are ignored.
        template = "\n".join(f"{to_label(name)}: " for name in self.columns)
        super().__init__(**{"widget": UnfoldAdminTextareaWidget({"rows": 8}), "initial": template} | options)

    def build_help_text(self, examples: Mapping[str, str], words: Mapping[str, Iterable[str]]) -> str:
        """Return the help text: an example with every name, and the `words` that a value can be."""
        needed = ", ".join(map(to_label, self.needed))
        text = f"One “Name: value” per line; an empty line starts the next entry. Required: {needed}. For example:"
        example = "\n".join(f"{to_label(name)}: {examples.get(name, '…')}" for name in self.columns)
        nested = [name for name, column in self.columns.items() if column.get("type") == "array"]
        notes = [f"{to_label(name)}: one per line, as {self._join_labels(name)}." for name in nested]
        notes += [f"{to_label(name)}: one of {', '.join(accepted)}." for name, accepted in words.items()]
        return format_html('{}<pre class="output">{}</pre>{}', text, example, " ".join(notes))

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str) or value is None:
            return value
        return "\n\n".join("\n".join(self._format_record(record)) for record in value)

    def to_python(self, value: Any) -> Any:
        """Raises: ValidationError, which names the line."""
        records: list[dict[str, Any]] = [{}]
        name = ""
        for number, line in enumerate(str(value or "").splitlines(), 1):
            if not line.strip():
                records += [{}] if records[-1] else []
                continue
            if line.startswith("  ") and isinstance(records[-1].get(name), str):
                records[-1][name] += f"\n{line[2:]}"
                continue
            written, colon, text = (part.strip() for part in line.partition(":"))
            name = "_".join(written.lower().split())
            if not colon or name not in self.columns:
                known = ", ".join(map(to_label, self.columns))
                raise forms.ValidationError(f"Line {number} is not a “Name: value” with one of these names: {known}.")
            if text:
                self._parse_value_into(records[-1], name, text, number)
        return [record for record in records if record] or None

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare what is written, so that a stored value that is written otherwise, such as null, is not touched."""
        return bool((self.prepare_value(initial) or "").split() != str(data or "").split())

    def _format_record(self, record: Mapping[str, Any]) -> Iterator[str]:
        for name, value in record.items():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    text = " | ".join("" if one.get(key) is None else str(one[key]) for key in self._list_nested_columns(name))
                else:
                    text = "" if one is None else ("no", "yes")[one] if isinstance(one, bool) else str(one)
                if text:
                    yield f"{to_label(name)}: {text}".replace("\n", "\n  ")

    def _parse_value_into(self, record: dict[str, Any], name: str, text: str, number: int) -> None:
        column = self.columns[name]
        if column.get("type") == "array":
            parts = [part.strip() for part in text.split("|")]
            nested = self._list_nested_columns(name)
            if len(parts) > len(nested):
                raise forms.ValidationError(f"Line {number} has more values than there are fields: {self._join_labels(name)}.")
            record.setdefault(name, []).append(
                {
                    key: self._convert_value(schema, part, number)
                    for (key, schema), part in zip(nested.items(), parts, strict=False)
                    if part
                }
            )
        elif name in record:
            raise forms.ValidationError(f"Line {number} gives {to_label(name)} twice; an empty line starts the next entry.")
        else:
            record[name] = self._convert_value(column, text, number)

    def _list_nested_columns(self, name: str) -> dict[str, Any]:
        items = self.columns[name]["items"]["$ref"].rpartition("/")[2]
        return dict(self.definitions[items]["properties"])

    def _join_labels(self, name: str) -> str:
        return " | ".join(map(to_label, self._list_nested_columns(name)))

    @staticmethod
    def _convert_value(schema: Mapping[str, Any], text: str, number: int) -> Any:
        kind = get_non_null_schema(schema).get("type")
        try:
            match kind:
                case "integer":
                    return int(text)
                case "number":
                    return float(text)
                case "boolean":
                    return {"yes": True, "no": False}[text.lower()]
        except (ValueError, KeyError) as error:
            expected = "yes or no" if kind == "boolean" else "a number"
            raise forms.ValidationError(f"Line {number}: {expected} is needed, not “{text}”.") from error
        return text
