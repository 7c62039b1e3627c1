import { AlliumError } from '@allium/core'

/**
 * Returns the base URL of Ollama's OpenAI-compatible API from OLLAMA_HOST, which is parsed as Ollama does: scheme and port may be
 * missing, and a server's "all addresses" means this machine.
 *
 * @throws AlliumError `provider.unsupported` for a host that is not a valid URL
 * @example
 * ollamaUrl('gpu.lan') // 'http://gpu.lan:11434/v1'
 */
export function ollamaUrl(host = ''): string {
  const text = host.trim() === '' ? '127.0.0.1' : host.trim()
  const withScheme = text.includes('://') ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw noUrl(host)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && !/:\d+(\/|$)/.test(withScheme) && url.protocol === 'http:') url.port = '11434'
  return `${url.href.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
}

function noUrl(host: string): AlliumError {
  return new AlliumError(
    'provider.unsupported',
    `OLLAMA_HOST is ${JSON.stringify(host)}, which is not an address. Set it to a host, a port or both, such as "127.0.0.1:11434", or to an http or https URL.`,
    { details: { provider: 'ollama', variable: 'OLLAMA_HOST' } },
  )
}
