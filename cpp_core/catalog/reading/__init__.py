"""What reads a file, in a process of its own: the standard library, NumPy, pyarrow and calamine.

Nothing here imports the rest of the library, which takes seconds to load; imports are relative.
"""
