import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  count: number
  /** The height of each row in CSS pixels. */
  rowHeight: number
  label: string
  role?: 'list' | 'tree'
  /** The row to scroll to. */
  active?: number
  /** The id of the active row, for screen readers. */
  activeId?: string | undefined
  /** Keeps the last row in view, unless the user scrolls up. */
  follows?: boolean
  onKeyDown?: (event: KeyboardEvent) => void
  children: (index: number) => ComponentChildren
}

/** Rows above and below the visible ones. */
const overscan = 8

/** A list of rows of the same height, of which only the visible ones are in the document. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, label, role = 'list', active, activeId, follows = false, onKeyDown, children } = props
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 400 })
  const isAtEnd = useRef(true)

  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement
    const observer = new ResizeObserver(() => setView((now) => ({ ...now, height: element.clientHeight })))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement
    if (follows && isAtEnd.current) element.scrollTop = count * rowHeight
  }, [count, follows, rowHeight])

  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement
    if (active === undefined || active < 0) return
    const [top, bottom] = [active * rowHeight, (active + 1) * rowHeight]
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
  }, [active, rowHeight])

  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current as HTMLDivElement
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight
    setView({ top: scrollTop, height: clientHeight })
  }
  const first = Math.max(0, Math.floor(view.top / rowHeight) - overscan)
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + overscan)
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  return (
    <div
      class="virtual"
      ref={box}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      role={count === 0 ? 'group' : role}
      aria-label={label}
      aria-activedescendant={activeId}
      tabIndex={0}
    >
      <div class="virtual-rows" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {rows.map((index) => (
          <div
            key={index}
            role="presentation"
            class="virtual-row"
            style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
