import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter } from 'vitest/node'

/** Writes the errors that no test caught to a file, as a list of texts. The JSON report of vitest lacks them, and each fails the run. */
export function unhandledErrors(file: string): Reporter {
  return {
    onTestRunEnd(_, errors) {
      mkdirSync(dirname(file), { recursive: true })
      const texts = errors.map(({ name, message, stack, VITEST_TEST_PATH: path }) =>
        [path, stack || `${name}: ${message}`].filter(Boolean).join('\n'),
      )
      writeFileSync(file, JSON.stringify(texts))
    },
  }
}
