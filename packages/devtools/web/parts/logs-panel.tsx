import type { LogLine } from '../store/journal.ts'
import { live } from '../store/store.ts'
import { clock } from './format.ts'
import { VirtualList } from './virtual-list.tsx'

/** The output of the agent's process. */
export function LogsPanel() {
  if (live.logs.length === 0) return <p class="empty">The agent's process has written nothing.</p>
  return (
    <div class="panel-body">
      <VirtualList count={live.logs.length} rowHeight={22} label="Output of the agent's process" follows>
        {(index) => {
          const { at, stream, text } = live.logs[index] as LogLine
          return (
            <div role="listitem" class={`log ${stream}`}>
              <time>{clock(at)}</time>
              <code>{text}</code>
            </div>
          )
        }}
      </VirtualList>
    </div>
  )
}
