// PayloadTemplate
