import type { Labels } from './counters.ts'

/** A metric with its samples. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[]
}

/** Returns metrics in Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function prometheusText(families: readonly Family[]): string {
  return families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n`,
      ...samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}\n`),
    ])
    .join('')
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))
}
