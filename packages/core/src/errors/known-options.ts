import { AlliumError } from './allium-error.ts'
import type { ErrorCode } from './codes.ts'
import { isNear, unknownName } from './nearest.ts'

/** Throws where an option was given that is not known. Asked at each run: it makes nothing unless it finds one. */
export function checkOptions(
  options: object,
  known: ReadonlySet<string>,
  what: string,
  code: ErrorCode,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  for (const name in options) if (!known.has(name)) throw unknownOption(name, known, what, code, elsewhere)
}

function unknownOption(
  name: string,
  known: ReadonlySet<string>,
  what: string,
  code: ErrorCode,
  elsewhere: Readonly<Record<string, string>>,
): AlliumError {
  const other = Object.keys(elsewhere).find((one) => isNear(name, [one]))
  const mend =
    other === undefined || isNear(name, [...known])
      ? unknownName(name, [...known])
      : `${other === name ? '' : `Did you mean "${other}"? `}${elsewhere[other]}`
  return new AlliumError(code, `${what} does not know the option ${name}. ${mend}`, { details: { option: name } })
}
