/** Whether text in an element is selected. The click that ends a selection must not act on the element. */
export function isSelecting(element: Node): boolean {
  const selection = getSelection();
  return selection !== null && selection.toString() !== "" && selection.containsNode(element, true);
}
