import type { Span } from '../store/trace.ts'
import { duration, money } from './format.ts'

export interface SpanRowProps {
  span: Span
  /** The call that it is of: a model, or a tool. */
  name: string | undefined
  /** The duration of the turn, for the bar. */
  total: number
  /** Whether its children are shown; undefined without children. */
  open: boolean | undefined
  isSelected: boolean
  select(): void
  toggle(): void
}

/** One layer of one call. */
export function SpanRow({ span, name: subject, total, open, isSelected, select, toggle }: SpanRowProps) {
  const { id, layer, scope, core, depth, self, decision, changed, usd, error } = span
  const name = core && scope !== 'turn' ? (subject ?? layer) : layer
  const fields = changed?.map(({ field }) => field).join(', ')
  const label = decision === 'changed' && fields !== undefined ? `changed ${fields}` : (decision ?? 'running')
  const onTwist = (event: MouseEvent) => {
    event.stopPropagation()
    toggle()
  }
  return (
    <div
      id={`span-${id}`}
      role="treeitem"
      class={`span-row${isSelected ? ' selected' : ''}`}
      aria-level={depth + 1}
      aria-selected={isSelected}
      {...(open !== undefined && { 'aria-expanded': open })}
      onClick={select}
    >
      <span class="indent" style={{ width: `${Math.min(depth, 24) * 12}px` }} />
      <span class="twist" aria-hidden="true" onClick={onTwist}>
        {open === undefined ? '' : open ? '▾' : '▸'}
      </span>
      <span class={`scope ${scope}`}>{scope}</span>
      <span class={core ? 'layer core' : 'layer'}>{name}</span>
      {!core && subject !== undefined && <span class="subject">{subject}</span>}
      <span class="space" />
      {usd !== undefined && usd > 0 && <span class="cost">{money(usd)}</span>}
      {error !== undefined && <span class="badge error">error</span>}
      {!(core && decision === 'passed') && <span class={`badge ${decision ?? 'running'}`}>{label}</span>}
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.min(100, (100 * (self ?? 0)) / Math.max(total, 0.001))}%` }} />
      </span>
      <span class="self">{duration(self)}</span>
    </div>
  )
}
