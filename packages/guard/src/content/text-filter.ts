import { type Detector, type Finding, findAll } from '@allium/shared/detect'

/** How a guard changes texts, as a whole or while they stream. */
export interface TextFilter {
  readonly detectors: readonly Detector[]
  /** Returns the replacement of a finding, or blocks. */
  replace(found: Finding, isNumber?: boolean): string | Promise<string>
  /** Filters the names of arguments, too. @default they pass unchanged */
  filterName?(name: string): string | Promise<string>
  /** Filters a whole text. */
  filterText(text: string, isNumber?: boolean): string | Promise<string>
}

/** Returns a text with its findings replaced. */
export async function replaceIn(
  text: string,
  detectors: readonly Detector[],
  replace: (found: Finding) => string | Promise<string>,
): Promise<string> {
  let replaced = ''
  let at = 0
  for (const finding of findAll(detectors, text)) {
    replaced += text.slice(at, finding.start) + (await replace(finding))
    at = finding.end
  }
  return at === 0 ? text : replaced + text.slice(at)
}
