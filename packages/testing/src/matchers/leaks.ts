/**
 * Returns the paths at which a secret occurs in a value, such as `events[3].delta`. It searches objects, lists, maps, keys, errors with
 * their causes, bytes and URLs. It joins the deltas of a list of events or chunks, because a stream may split a secret. It also finds
 * JSON-escaped and URL-encoded secrets. Empty if none leaked.
 *
 * @throws TypeError for an empty secret, and for a run or a promise that was not awaited
 * @example
 * assert.deepEqual(leaks({ events, result, history: session.history }, 'sk-planted'), [])
 */
export function leaks(value: unknown, secret: string | RegExp): string[] {
  const has = finder(secret)
  const found: string[] = []
  const seen = new Set<object>()

  const visit = (item: unknown, path: string) => {
    if (typeof item === 'string' && has(item)) found.push(path || 'the text itself')
    if (typeof item !== 'object' || item === null || seen.has(item)) return
    if (typeof (item as { then?: unknown }).then === 'function') throw pending(path)
    seen.add(item)
    for (const text of textsOf(item)) if (has(text)) found.push(path || 'the value itself')
    if (Array.isArray(item)) for (const kind of splitIn(item, has)) found.push(`${path} (over several ${kind})`.trim())
    for (const [key, inner] of fieldsOf(item)) {
      if (has(key)) found.push(`the key ${path}.${key}`)
      visit(inner, Array.isArray(item) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`)
    }
  }
  visit(value, '')
  return found
}

function pending(path: string): TypeError {
  const what = path === '' ? 'It' : path
  return new TypeError(`${what} is a run or a promise, which cannot be searched. Await it, or collect its events.`)
}

function finder(secret: string | RegExp): (text: string) => boolean {
  if (typeof secret !== 'string') return (text) => text.search(secret) >= 0
  if (secret === '') throw new TypeError('An empty secret is in every text. Give the secret that was planted.')
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  return (text) => forms.some((form) => text.includes(form))
}

/** Returns the texts that an object itself contains. */
function textsOf(item: object): string[] {
  if (item instanceof Uint8Array) return [new TextDecoder().decode(item)]
  return item instanceof URL ? [item.href] : []
}

/** Returns the kinds of deltas that contain the secret only when joined. */
function splitIn(list: readonly unknown[], has: (text: string) => boolean): string[] {
  const joined = new Map<string, string[]>()
  for (const item of list) {
    const { type, delta, callId = '' } = chunkOf(item)
    if (typeof delta !== 'string') continue
    const key = `${type} ${callId}`.trim()
    const deltas = joined.get(key)
    if (deltas === undefined) joined.set(key, [delta])
    else deltas.push(delta)
  }
  return [...joined].filter(([, deltas]) => !deltas.some(has) && has(deltas.join(''))).map(([key]) => key)
}

interface Delta {
  type?: unknown
  delta?: unknown
  callId?: unknown
}

/** Events of observers and sub-agents contain the chunk in another event. */
function chunkOf(item: unknown): Delta {
  const { chunk } = (item ?? {}) as { chunk?: Delta }
  return chunk ?? ((item ?? {}) as Delta)
}

/** Returns all fields, including hidden ones such as an error's message and class getters; skips those that throw. */
function fieldsOf(item: object): [string, unknown][] {
  if (item instanceof Uint8Array || item instanceof URL) return []
  if (item instanceof Map || item instanceof Set) return [...item].map((entry, i) => [String(i), entry])
  return [...Object.getOwnPropertyNames(item), ...gettersOf(item)].flatMap((key): [string, unknown][] => {
    try {
      return [[key, (item as Record<string, unknown>)[key]]]
    } catch {
      return []
    }
  })
}

/** For example the history of a session. */
function gettersOf(item: object): string[] {
  const prototype: object | null = Array.isArray(item) ? null : Object.getPrototypeOf(item)
  if (prototype === null || prototype === Object.prototype) return []
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype))
  return [...own.filter(([, { get }]) => get !== undefined).map(([key]) => key), ...gettersOf(prototype)]
}
