import { misconfigured } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Detector, Span } from '@allium/shared/detect'

/**
 * Finds something in texts, by a pattern or a function. It receives folded text: JSON, Markdown and URL escapes are resolved, compatibility
 * forms and the digits and dashes of all scripts become plain ones, and invisible characters are removed.
 */
export interface DetectorOptions {
  /** The type of its findings, in lower case: `employee_id`. */
  type: string
  pattern?: RegExp | undefined
  find?(text: string): Iterable<Span>
  /** The length of its longest finding in characters; that much of a stream is held back. @default 256 */
  maxLength?: number | undefined
}

const optionKeys: KeysOf<DetectorOptions> = { type: true, pattern: true, find: true, maxLength: true }

/** @throws AlliumError `layer.config` for a detector that does not have exactly one of pattern and function */
export function createDetector(layer: string, options: DetectorOptions): Detector {
  checkOptions(options ?? null, optionKeys, `A detector of "${layer}"`, 'layer.config')
  const { type, pattern, find, maxLength = 256 } = options
  if ((pattern === undefined) === (find === undefined) || !(maxLength > 0))
    throw misconfigured(layer, `has a detector "${type}" without a pattern or find(text).`)
  if (pattern !== undefined) return patternDetector(type, pattern, maxLength)
  return {
    type,
    longest: maxLength,
    find(text, from) {
      let first: Span | undefined
      for (const span of find?.(text) ?? [])
        if (span.start >= from && span.end > span.start && (first === undefined || span.start < first.start))
          first = span
      return first
    },
  }
}

export function patternDetector(type: string, pattern: RegExp, longest: number): Detector {
  const flags = pattern.flags.replace(/[gy]/g, '')
  return {
    type,
    longest,
    find(text, from) {
      const search = new RegExp(pattern.source, `${flags}g`)
      search.lastIndex = from
      for (let match = search.exec(text); match !== null; match = search.exec(text)) {
        if (match[0] !== '') return { start: match.index, end: match.index + match[0].length }
        search.lastIndex++
      }
      return undefined
    },
  }
}
