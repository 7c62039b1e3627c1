// Hooks of Node's module loader. A package from which exports have moved is replaced by a module that exports these, too.
const packages = new URL('../packages/', import.meta.url).href
const marker = '?moved='
const moved = new Map()

export function initialize(exports) {
  for (const [key, target] of Object.entries(exports)) {
    const [name, exported] = key.split('#')
    moved.set(name, [...(moved.get(name) ?? []), `export { ${exported} } from '${target}'`])
  }
}

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context)
  if (!moved.has(specifier) || context.parentURL?.startsWith(packages)) return resolved
  return { ...resolved, url: `${resolved.url}${marker}${specifier}` }
}

export async function load(url, context, next) {
  const [original, name] = url.split(marker)
  if (name === undefined) return next(url, context)
  return {
    format: 'module',
    shortCircuit: true,
    source: [`export * from '${original}'`, ...moved.get(name)].join('\n'),
  }
}
