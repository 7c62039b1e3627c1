/**
 * Returns why a tool cannot be called over HTTP: its schema asks for arguments as headers (`x-mcp-header`) in a way that revision
 * 2026-07-28 forbids. The SDK leaves such tools out, except on the first page of a list.
 */
export function headerFault(schema: unknown): string | undefined {
  const names = new Set<string>()
  const visit = (node: unknown, isProperty: boolean, isReachable: boolean): string | undefined => {
    if (typeof node !== 'object' || node === null) return undefined
    if (key in node) {
      const { [key]: name, type } = node as Record<string, unknown>
      if (!isProperty || !isReachable) return `${key} is somewhere else than at a property`
      if (typeof name !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
        return `${key} ${JSON.stringify(name)} is no name of a header`
      if (!['string', 'integer', 'boolean'].includes(String(type))) return `${key} is at a property of another type`
      if (names.has(name.toLowerCase())) return `${key} ${JSON.stringify(name)} is there twice`
      names.add(name.toLowerCase())
    }
    for (const [keyword, inner] of Object.entries(node)) {
      if (values.has(keyword)) continue
      const isProperties = keyword === 'properties'
      const nodes = isProperties || Array.isArray(inner) || maps.has(keyword) ? Object.values(inner ?? {}) : [inner]
      for (const one of nodes) {
        const fault = visit(one, isProperties, isReachable && isProperties)
        if (fault !== undefined) return fault
      }
    }
    return undefined
  }
  return visit(schema, false, true)
}

const key = 'x-mcp-header'
/** Keywords with values of data. */
const values = new Set([key, 'default', 'const', 'enum', 'examples', 'required'])
/** Keywords with schemas by name. */
const maps = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])
