module codes

go 1.26
