"""Bytes in and out: files, standard streams, compression, remote stores."""
