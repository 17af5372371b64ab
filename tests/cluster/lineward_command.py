#!/opt/lineward/python/bin/python
"""Command `lineward` of the image, as pods that are processes have it."""

import sys

from service.cli.main import main

sys.exit(main())
