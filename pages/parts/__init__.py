"""What the pages share: the frame, the sidebar, live runs, drawing."""
