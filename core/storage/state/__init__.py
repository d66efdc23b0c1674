"""Tables, migrations, and one repository per noun. The door is `database.Database`; SQL lives nowhere else."""
