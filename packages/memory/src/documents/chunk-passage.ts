import type { FlowLabels } from '@allium/core'
import type { NewPassage } from '@allium/store'
import { blindTerms } from '@allium/store/passages'
import type { Language } from '../recall/language.ts'
import { stemsOf } from '../recall/terms.ts'
import type { Chunk } from './chunks.ts'

interface PassageOrigin {
  readonly title: string
  readonly flow: FlowLabels
  readonly at: number
  readonly language: Language
  readonly termKey: Uint8Array
}

/** Returns a chunk as a passage. The words of the title and of the headings count for each chunk. */
export function chunkPassage(
  { text, section }: Chunk,
  index: number,
  { title, flow, at, language, termKey }: PassageOrigin,
): NewPassage {
  const counts = new Map<string, number>()
  const stems = stemsOf(text, language)
  for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  for (const stem of stemsOf(`${title} ${section}`, language)) counts.set(stem, counts.get(stem) ?? 1)
  const terms = blindTerms(termKey, [...counts.keys()])
  return {
    ...{ index, role: 'user', author: '', at, words: stems.length, flow },
    terms: Object.fromEntries([...counts.values()].map((count, i) => [terms[i] as string, count])),
  }
}
