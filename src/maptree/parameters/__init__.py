"""Parameters as users write them, checked: limits, and the prior."""
