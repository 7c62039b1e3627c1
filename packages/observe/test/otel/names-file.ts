/** A table of names, as `conventions/` has it. */
export interface Table {
  readonly sources: Readonly<Record<string, { repository?: string; file?: string; commit?: string; package?: string }>>
  readonly attributes: Readonly<Record<string, { name: string; type: string; source: string }>>
  readonly spans: Readonly<Record<string, { name: string; kind: string; attributes: string; source: string }>>
  readonly metrics: Readonly<Record<string, MetricRow>>
  readonly events: Readonly<Record<string, { name: string; severity?: string; attributes: string; source: string }>>
  readonly parts: { fixed: object; kind: string; mediaType: string; source?: string }
}

interface MetricRow {
  name: string
  instrument: string
  unit: string
  description: string
  attributes: string
  source: string
}

/** Returns `src/otel/names.ts` for the tables: their names, without types and sources. */
export function namesFile(tables: Readonly<Record<string, Table>>): string {
  const all = Object.values(tables)
  const keysOf = (part: 'attributes' | 'metrics' | 'events' | 'spans') =>
    [...new Set(all.flatMap((table) => Object.keys(table[part])))].map((key) => `\n  | '${key}'`).join('')
  return `${head}
export type AttributeKey =${keysOf('attributes')}

export type SpanKey =${keysOf('spans')}

export type MetricKey =${keysOf('metrics')}

export type EventKey =${keysOf('events')}
${shape}
${Object.entries(tables).map(tableOf).join('\n')}`
}

const head = `// Generated from ../../conventions by test/otel/names.test.ts. Change the tables there, and run that test with -u.
`

const shape = `
/** The names of a version of the conventions. A row that it lacks is not emitted. */
export interface Conventions {
  readonly attributes: { readonly [Key in AttributeKey]?: string }
  /** The attributes of each span. */
  readonly spans: Readonly<Record<SpanKey, readonly AttributeKey[]>>
  readonly metrics: { readonly [Key in MetricKey]?: MetricNames }
  readonly events: { readonly [Key in EventKey]?: EventNames }
  /** How message parts without a type of their own are written. */
  readonly parts: PartNames
}

export interface MetricNames {
  readonly name: string
  readonly instrument: 'counter' | 'histogram'
  readonly unit: string
  readonly description: string
  readonly attributes: readonly AttributeKey[]
}

interface EventNames {
  readonly name: string
  readonly attributes: readonly AttributeKey[]
}

export interface PartNames {
  readonly fixed: object
  readonly kind: string
  readonly mediaType: string
}
`

function tableOf([name, { attributes, spans, metrics, events, parts }]: [string, Table]): string {
  return `export const ${name}: Conventions = {
  attributes: {
${rows(attributes, (row) => quoted(row.name))}  },
  spans: {
${rows(spans, (row) => list(row.attributes))}  },
  metrics: {
${rows(metrics, ({ source, attributes: keys, ...row }) => fields({ ...row, attributes: keys }))}  },
  events: {
${rows(events, (row) => fields({ name: row.name, attributes: row.attributes }))}  },
  parts: ${fixed(parts)},
}
`
}

function rows<Row>(table: Readonly<Record<string, Row>>, write: (row: Row) => string): string {
  return Object.entries(table)
    .map(([key, row]) => `    ${key}: ${write(row)},\n`)
    .join('')
}

function fields(row: Record<string, string>): string {
  const all = Object.entries(row).map(([key, text]) => `${key}: ${key === 'attributes' ? list(text) : quoted(text)}`)
  return `{ ${all.join(', ')} }`
}

function fixed({ fixed: same, kind, mediaType }: Table['parts']): string {
  return `{ fixed: ${JSON.stringify(same)}, kind: ${quoted(kind)}, mediaType: ${quoted(mediaType)} }`
}

const list = (keys: string) => `[${keys.split(' ').map(quoted).join(', ')}]`
const quoted = (text: string) => `'${text}'`
