"""Operations: archives, backups, the doctor, and measures of quality."""
