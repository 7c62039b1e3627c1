import type { ToolResultPart } from '@allium/core'
import { resultText } from '@allium/core/internal'
import { valueOfText } from './values.ts'

/** Returns the stored value of a result. */
export function valueOfResult({ content }: ToolResultPart): unknown {
  return valueOfText(resultText(content))
}
