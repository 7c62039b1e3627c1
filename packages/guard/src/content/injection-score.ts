import { fold } from '@allium/shared/detect'
import type { createVard } from '@andersmyrmel/vard'
import { patternScore } from './injection-patterns.ts'

/** How many characters are checked. The run time of vard's patterns grows with the cube of the text length. */
const maxLength = 16_000
const window = 800
const overlap = 160

/** The score of role instructions ("you are …"). Most harmless prompts contain them too, so they alone do not indicate an attack. */
const weakScore = 0.6

/**
 * Returns how likely a text is an attack, from 0 to 1: the highest severity among the findings of vard's patterns and Allium's own.
 * Of a longer text it checks the first and last 8,000 characters. The patterns know common attacks in English, including hidden ones
 * (tag characters, base64, hexadecimal, ROT13), and no others.
 */
export async function injectionScore(text: string): Promise<number> {
  const vard = await createVardDetector()
  const inspected = text.length <= maxLength ? text : `${text.slice(0, maxLength / 2)} ${text.slice(-maxLength / 2)}`
  const folded = fold(inspected).text
  let highest = patternScore(inspected)
  for (let at = 0; at < Math.max(folded.length - overlap, 1); at += window - overlap) {
    const result = vard.safeParse(folded.slice(at, at + window))
    if (!result.safe) for (const threat of result.threats) highest = Math.max(highest, severityOf(threat))
  }
  return highest
}

function severityOf({ type, severity, match }: { type: string; severity: number; match: string }): number {
  const isWeak = type === 'roleManipulation' || type === 'encoding'
  const isVague = type === 'systemPromptLeak' && !/prompt|system|your|above|hidden/i.test(match)
  return isWeak || isVague ? Math.min(severity, weakScore) : severity
}

async function createVardDetector(): Promise<ReturnType<typeof createVard>> {
  const { default: vard } = await import('@andersmyrmel/vard')
  return vard()
    .threshold(0)
    .block('instructionOverride')
    .block('roleManipulation')
    .block('delimiterInjection')
    .block('systemPromptLeak')
    .block('encoding')
}
