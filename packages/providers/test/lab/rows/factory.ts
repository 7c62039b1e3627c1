import type { Provider, ProviderPackage, Row } from '../row.ts'

export const apiKey = 'sk-lab'

/** Calls the factory of a package. */
export function create(from: ProviderPackage, factory: string, options: object): Provider {
  const found = from[factory]
  if (found === undefined) throw new Error(`The package has no ${factory}. It has ${Object.keys(from).join(', ')}.`)
  return found({ apiKey, ...options })
}

/** The model of a package whose factory takes a key and a base URL, and whose provider is a function. */
export function model(factory: string, path: string, id: string): Row['model'] {
  return (from, url) => create(from, factory, { baseURL: `${url}${path}` })(id)
}

/** A `fetch` for packages that ask one fixed host. */
export function fetchTo(url: string): typeof globalThis.fetch {
  return (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    return fetch(`${url}${pathname}${search}`, init)
  }
}
