"""The parts of the window that show and edit a plan. No panel knows another one."""
