/** The command that installs the package echelon-capture. Until it is published, from a clone. */
export const CAPTURE_INSTALL = 'pip install ./deploy/capture, in a clone of Echelon';
