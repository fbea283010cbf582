// Net
