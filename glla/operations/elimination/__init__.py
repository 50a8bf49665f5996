"""Eliminations: PLU factors and the reduced row echelon form, their pivot searches and panels."""
