import Foundation

let rows = """
    token,first_name,seats
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0,Zoë,3
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1,,2
    00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f2,"O'Brien, Pat",4

    """
try Data(rows.utf8).write(to: URL(filePath: "rows.csv"))
