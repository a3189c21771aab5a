/**
 * Calls back in the frame after an element has changed its size. Not in the frame of the measurement: what the call draws may change
 * the size again, which the browser reports as an error within one frame.
 * @returns a function that ends it
 */
export function onResize(element: Element, changed: () => void): () => void {
  let frame = 0;
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(changed);
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}
