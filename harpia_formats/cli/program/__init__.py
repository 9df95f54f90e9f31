"""The command line as typer runs it: values of options, help pages, mistakes."""
