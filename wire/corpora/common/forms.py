"""Fields of the desk's forms, and what its lists have in common."""

from typing import Any

import orjson
from django import forms
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminTextareaWidget


class JsonField(forms.CharField):
    """A nested value, written as JSON."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=UnfoldAdminTextareaWidget({"rows": 8, "spellcheck": "false"}), **options)

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()

    def to_python(self, value: Any) -> Any:
        try:
            return orjson.loads(value) if str(value or "").strip() else None
        except ValueError as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error


def link_public(address: str, row: object) -> str:
    return format_html('<a href="{}" aria-label="Public page of {}">View</a>', address, row)
