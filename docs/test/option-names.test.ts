import { beforeAll, describe, expect, it } from 'vitest'
import { differences, exportedOptions, type Option } from './option-names.ts'
import { findPages } from './pages.ts'

const page = findPages().find(({ path }) => path.endsWith('-one-name-per-option.md'))?.lines ?? []

/** The names in the first column of the table of accepted exceptions. */
const accepted = page
  .slice(page.indexOf('## Names with several types'))
  .flatMap((line) => /^\| (`.*?`) \|/.exec(line)?.[1]?.match(/[^`, ]+/g) ?? [])

describe('options of one name', () => {
  let options: Option[]

  beforeAll(() => {
    options = exportedOptions()
  }, 120_000)

  it('have one type and one unit in all packages, except for those that the decision page explains', () => {
    expect(options.length).toBeGreaterThan(500)
    expect(differences(options, accepted)).toEqual([])
  })

  it('are explained only where they differ', () => {
    const differing = differences(options).map((text) => text.split(':')[0])
    expect(accepted.filter((name) => !differing.includes(name))).toEqual([])
  })

  it.each([
    { name: 'attempts', kind: 'string', unit: '' },
    { name: 'attempts', kind: 'number or string', unit: '' },
    { name: 'timeout', kind: 'number', unit: 'seconds' },
    { name: 'timeout', kind: 'number', unit: '' },
    { name: 'delay', kind: 'function', unit: '' },
  ])('cannot get another type or unit: $kind $unit for $name', (option) => {
    const found = differences([...options, { ...option, type: 'x.XOptions' }], accepted)
    expect(found).toEqual([expect.stringContaining('x.XOptions')])
  })
})
