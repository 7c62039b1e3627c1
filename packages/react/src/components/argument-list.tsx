import type { ReactNode } from 'react'

/** The arguments of a call. Values that are not text are shown as JSON. */
export function ArgumentList({ args }: { args: Readonly<Record<string, unknown>> }): ReactNode {
  return (
    <dl className="allium-arguments">
      {Object.entries(args).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
