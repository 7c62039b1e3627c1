import type { ModelServer } from '@allium/core/internal'
import type { AiSdkModel } from './ai-sdk-model.ts'

/** Returns the host of a model's base URL, from the package-specific field; undefined if there is none. */
export function serverOf(model: AiSdkModel): ModelServer | undefined {
  const url = baseUrlOf(model)
  if (url === undefined || !URL.canParse(url)) return undefined
  const { hostname, port, protocol } = new URL(url)
  if (hostname === '') return undefined
  return { address: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) }
}

interface Config {
  baseURL?: unknown
  baseUrl?: unknown
  url?: unknown
}

function baseUrlOf(model: AiSdkModel): string | undefined {
  const { config } = model as { config?: Config }
  if (typeof config !== 'object' || config === null) return undefined
  const { baseURL, baseUrl, url: urlOf } = config
  for (const read of [
    () => baseURL,
    () => call(baseURL),
    () => call(baseUrl),
    () => call(urlOf, { path: '', modelId: model.modelId }),
  ])
    try {
      const url = read()
      if (typeof url === 'string') return url
    } catch {
      // The package expects other arguments, or has no key yet.
    }
  return undefined
}

function call(value: unknown, ...args: unknown[]): unknown {
  return typeof value === 'function' ? value(...args) : undefined
}
