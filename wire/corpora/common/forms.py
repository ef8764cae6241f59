"""Fields of the desk's forms."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget


class RecordsField(forms.CharField):
    """Records, each written with one `name: value` a line, and an empty line between two. `schema` is the JSON Schema of a record.

    A line that begins with two spaces goes on with the value above. A list of records inside one has a line for each of these,
    with its values in order: `disputes: report-3 | 1 | https://…`.
    """

    def __init__(self, schema: Mapping[str, Any], definitions: Mapping[str, Any], *, is_one: bool = False, **options: Any) -> None:
        self.columns: Mapping[str, Any] = {
            name: next(one for one in part.get("anyOf", [part]) if one.get("type") != "null")
            for name, part in schema["properties"].items()
        }
        self.definitions, self.is_one = definitions, is_one
        needed = ", ".join(schema.get("required", ()))
        others = ", ".join(name for name in self.columns if name not in schema.get("required", ()))
        between = "" if is_one else " An empty line starts the next one."
        between += " Lines without a value are ignored."
        text = f"One “name: value” per line. Required: {needed}.{f' Optional: {others}.' if others else ''}{between}"
        # An empty record to fill in: lines without a value are ignored.
        template = "\n".join(f"{name}: " for name in dict.fromkeys((*schema.get("required", ()), *self.columns)))
        widget = UnfoldAdminTextareaWidget({"rows": len(self.columns) if is_one else 8})
        super().__init__(**{"help_text": text, "widget": widget, "initial": template} | options)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str) or value is None:
            return value
        return "\n\n".join("\n".join(self._write(record)) for record in ([value] if self.is_one else value))

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
            name, colon, text = (part.strip() for part in line.partition(":"))
            if not colon or name not in self.columns:
                known = ", ".join(self.columns)
                raise forms.ValidationError(f"Line {number} is not a “name: value” with one of these names: {known}.")
            if text:
                self._read(records[-1], name, text, number)
        found = [record for record in records if record]
        if self.is_one and len(found) > 1:
            raise forms.ValidationError("This field takes one record only: remove the empty line.")
        return (found[0] if found else None) if self.is_one else found or None

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare what is written, so that a stored value that is written otherwise, such as null, is not touched."""
        return bool((self.prepare_value(initial) or "").split() != str(data or "").split())

    def _write(self, record: Mapping[str, Any]) -> Iterator[str]:
        for name, value in record.items():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    text = " | ".join("" if one.get(key) is None else str(one[key]) for key in self._list_nested(name))
                else:
                    text = "" if one is None else ("no", "yes")[one] if isinstance(one, bool) else str(one)
                if text:
                    yield f"{name}: {text}".replace("\n", "\n  ")

    def _read(self, record: dict[str, Any], name: str, text: str, number: int) -> None:
        column = self.columns[name]
        if column.get("type") == "array":
            parts = [part.strip() for part in text.split("|")]
            nested = self._list_nested(name)
            if len(parts) > len(nested):
                raise forms.ValidationError(f"Line {number} has more values than there are fields: {' | '.join(nested)}.")
            record.setdefault(name, []).append(
                {
                    key: self._convert(schema, part, number)
                    for (key, schema), part in zip(nested.items(), parts, strict=False)
                    if part
                }
            )
        elif name in record:
            raise forms.ValidationError(f"Line {number} gives {name} twice; an empty line starts the next record.")
        else:
            record[name] = self._convert(column, text, number)

    def _list_nested(self, name: str) -> dict[str, Any]:
        items = self.columns[name]["items"]["$ref"].rpartition("/")[2]
        return dict(self.definitions[items]["properties"])

    @staticmethod
    def _convert(schema: Mapping[str, Any], text: str, number: int) -> Any:
        kind = next(one.get("type") for one in schema.get("anyOf", [schema]) if one.get("type") != "null")
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
