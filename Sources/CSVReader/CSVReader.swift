// CSVReader
