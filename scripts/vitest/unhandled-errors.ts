import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, Vitest } from 'vitest/node'

/**
 * Writes the errors that no test caught beside the JSON report, as a list of texts: `.cache/unit.errors.json` for `.cache/unit.json`.
 * The report of vitest lacks them, and each fails the run.
 */
export function unhandledErrors(): Reporter {
  let file: string
  return {
    onInit({ config }: Vitest) {
      const { json } = config.outputFile as { json: string }
      file = json.replace(/\.json$/, '.errors.json')
    },
    onTestRunEnd(_, errors) {
      mkdirSync(dirname(file), { recursive: true })
      const texts = errors.map(({ name, message, stack, VITEST_TEST_PATH: path }) =>
        [path, stack || `${name}: ${message}`].filter(Boolean).join('\n'),
      )
      writeFileSync(file, JSON.stringify(texts))
    },
  }
}
