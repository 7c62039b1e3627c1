import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import type { Rates } from './cost.ts'
import { splitModelId } from './model-id.ts'

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>

export interface PublicListOptions {
  /** @default Date.now */
  now?(): number
  /** @default import() */
  importLibrary?(): Promise<Library>
}

/**
 * The list of @pydantic/genai-prices. A lookup takes 2 ms at first and 0.1 ms later, so a model's rates are cached and multiplied:
 * permanently, or for a minute if they depend on the time.
 */
export function publicList({
  now = Date.now,
  importLibrary = () => import('@pydantic/genai-prices'),
}: PublicListOptions = {}) {
  const cache = new Map<string, { rates: Rates | undefined; minute: number | undefined }>()
  let library: Promise<Library> | undefined

  /** Loads the library, once. */
  function load(): Promise<Library> {
    return (library ??= importLibrary())
  }

  return {
    load,
    /** Returns the current rates of a model; undefined if the list does not contain it. */
    async rates(model: string): Promise<Rates | undefined> {
      const time = now()
      const minute = Math.floor(time / 60_000)
      const cached = cache.get(model)
      if (cached !== undefined && (cached.minute ?? minute) === minute) return cached.rates
      const result = lookUp(await load(), model, new Date(time))
      if (cache.size >= maxCached) cache.clear()
      cache.set(model, { rates: ratesOf(model, result), minute: result?.timed ? minute : undefined })
      return cache.get(model)?.rates
    },
  }
}

/** A limit, because model ids may come from tenants. */
const maxCached = 500

interface Found {
  id: string
  price: ModelPrice
  timed: boolean
}

function lookUp({ calcPrice }: Library, model: string, timestamp: Date): Found | undefined {
  const { providerId, modelId } = listedAs(model)
  const result = calcPrice({}, modelId, providerId === undefined ? { timestamp } : { timestamp, providerId })
  return result === null
    ? undefined
    : { id: result.model.id, price: result.model_price, timed: hasTimedPrices(result.model) }
}

/** Providers that the list knows by another name than their packages have. */
const listNames = new Map([
  ['togetherai', 'together'],
  ['workersai', 'cloudflare'],
  ['zhipu', 'zhipuai'],
])

/** Returns provider and model as the list has them: Google's without their path, and those that the router of Hugging Face sends on. */
function listedAs(model: string): { providerId?: string; modelId: string } {
  const { providerId = '', modelId: given } = splitModelId(model)
  const modelId = given.replace(/^(publishers\/\w+\/)?models\//, '')
  const [, routed, to] = /^(.+):([\w-]+)$/.exec(modelId) ?? []
  if (providerId === 'huggingface' && routed !== undefined) return { providerId: `huggingface_${to}`, modelId: routed }
  return providerId === '' ? { modelId } : { providerId: listNames.get(providerId) ?? providerId, modelId }
}

/** Models of OpenRouter whose names end with `:free` are free, and so are those that the list has under such a name without a price. */
function ratesOf(model: string, found: Found | undefined): Rates | undefined {
  const isFree = model.endsWith(':free') && (model.startsWith('openrouter/') || found?.id.endsWith(':free') === true)
  return isFree ? { input: 0, output: 0 } : found && toRates(found.price)
}

/** Whether prices change on a date or by the time of day. */
function hasTimedPrices({ prices }: ModelInfo): boolean {
  return Array.isArray(prices)
}

/** Returns undefined if neither tokens nor calls have a price, for example for hours of audio. */
function toRates(price: ModelPrice): Rates | undefined {
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok, requests_kcount } = price
  if (input_mtok === undefined && output_mtok === undefined && requests_kcount === undefined) return undefined
  const rates: Rates = { input: input_mtok ?? 0, output: output_mtok ?? 0 }
  if (cache_read_mtok !== undefined) rates.cachedInput = cache_read_mtok
  if (cache_write_mtok !== undefined) rates.cacheWrite = cache_write_mtok
  if (cache_write_1h_mtok !== undefined) rates.cacheWriteHour = cache_write_1h_mtok
  if (typeof requests_kcount === 'number') rates.perCall = requests_kcount / 1_000
  return rates
}
