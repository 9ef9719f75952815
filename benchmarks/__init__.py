"""What is timed, beside a plain reference in the same run."""
