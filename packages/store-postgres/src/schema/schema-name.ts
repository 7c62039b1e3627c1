/** Returns a schema name quoted for SQL. @throws TypeError when the name is invalid */
export function quoted(schema: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema) && !/^pg_/i.test(schema)) return `"${schema}"`
  throw new TypeError(
    `The schema ${JSON.stringify(schema)} is not a valid name. Use up to 63 letters, digits and "_", not starting with a digit or "pg_".`,
  )
}
