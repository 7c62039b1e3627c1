import { useEffect, useRef } from 'react'

/** Scrolls to the end of a list as it grows, unless the user has scrolled up. */
export function useFollow(growing: readonly [messages: readonly unknown[], ...unknown[]]) {
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current && growing[0].length > 0) list.current?.scrollTo(0, list.current.scrollHeight)
  }, growing)
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = list.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80
  }
  return {
    follow: { ref: list, onScroll },
    jump() {
      isAtEnd.current = true
    },
  }
}
