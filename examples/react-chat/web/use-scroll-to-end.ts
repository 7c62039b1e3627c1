import { useEffect, useRef } from 'react'

/** Keeps the end of the page in view while its content changes, unless the user has scrolled up. */
export function useScrollToEnd(content: unknown): void {
  const isAtEnd = useRef(true)
  useEffect(() => {
    const onScroll = () => {
      isAtEnd.current = window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 50
    }
    window.addEventListener('scroll', onScroll)
    return () => window.removeEventListener('scroll', onScroll)
  }, [])
  useEffect(() => {
    if (isAtEnd.current) window.scrollTo(0, document.documentElement.scrollHeight)
  }, [content])
}
