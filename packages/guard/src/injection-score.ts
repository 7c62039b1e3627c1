import { fold } from '@allium/detect'
import type { createVard } from '@andersmyrmel/vard'

/** So much is looked at: vard's patterns take time by the cube of a text's length. */
const longest = 16_000
const window = 800
const overlap = 160

/**
 * The highest severity among the attacks that vard's patterns find in a text, from 0 to 1; of a longer text in its first and
 * last 8,000 characters. They know common attacks in English, and no other.
 */
export async function injectionScore(text: string): Promise<number> {
  const vard = await builder()
  const looked = text.length <= longest ? text : `${text.slice(0, longest / 2)} ${text.slice(-longest / 2)}`
  const folded = fold(looked).text
  let highest = 0
  for (let at = 0; at < Math.max(folded.length - overlap, 1); at += window - overlap) {
    const result = vard.safeParse(folded.slice(at, at + window))
    if (!result.safe) for (const { severity } of result.threats) highest = Math.max(highest, severity)
  }
  return highest
}

async function builder(): Promise<ReturnType<typeof createVard>> {
  const { default: vard } = await import('@andersmyrmel/vard')
  return vard()
    .threshold(0)
    .block('instructionOverride')
    .block('roleManipulation')
    .block('delimiterInjection')
    .block('systemPromptLeak')
    .block('encoding')
}
