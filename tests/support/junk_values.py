"""Values that a damaged file may have anywhere."""

from __future__ import annotations

from hypothesis import strategies as st

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, 10**400, -1, 0, 1])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["inf", "-inf", "nan", "auto", "optimal", "|O", "<U1", "category", "UTC"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
