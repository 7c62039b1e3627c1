import { hideSecrets, isSecretName } from '@allium/shared/detect'
import { mapTexts } from './tagged-json.ts'

/** Additional texts to remove from a recording: a function that maps each text, or a list of texts and patterns. */
export type Scrub = ((text: string) => string) | readonly (string | RegExp)[]

/** Cleans one text. Idempotent. */
export type CleanText = (text: string) => string

/** The text that replaces a secret. */
const scrubbed = '[scrubbed]'

/** Returns a function that removes credentials and the texts in the user's `scrub`. */
export function cleaner(scrub: Scrub = []): CleanText {
  const customScrub = typeof scrub === 'function' ? scrub : removeEach(scrub)
  return (text) => hideSecrets(customScrub(text), scrubbed)
}

/** Keeps the names of all headers without values, and removes other settings whose name indicates a credential. */
export function cleanSettings<T extends object>(settings: T, clean: CleanText): T {
  const { headers, ...others } = settings as { headers?: object }
  const hidden = Object.fromEntries(Object.keys(headers ?? {}).map((name) => [name.toLowerCase(), scrubbed]))
  return { ...(scrubNamed(mapTexts(others, clean)) as T), ...(headers !== undefined && { headers: hidden }) }
}

function scrubNamed(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return isSecretName(name) ? scrubbed : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => scrubNamed(item, name))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubNamed(item, key)]))
}

/** Applies each pattern only between earlier replacements, so that none changes a replacement. */
function removeEach(list: readonly (string | RegExp)[]): CleanText {
  const patterns = list.filter((one) => one !== '').map((one) => (typeof one === 'string' ? one : everywhere(one)))
  const remove = (text: string, one: string | RegExp) => {
    const kept = text.split(scrubbed).map((rest) => rest.replaceAll(one, (found) => (found === '' ? '' : scrubbed)))
    return kept.join(scrubbed)
  }
  return (text) => patterns.reduce(remove, text)
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
}
