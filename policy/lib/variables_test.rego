package kandev.lib.variables_test

import data.kandev.lib.variables

test_expand if {
	container := {"env": [{"name": "A", "value": "x"}, {"name": "A", "value": "y"}, {"name": "B", "valueFrom": {}}, {"name": 1, "value": "z"}]}
	variables.expand("$(A)/$$(A)/$(B)/$(C)", container) == "y/$(A)/$(B)/$(C)"
}
